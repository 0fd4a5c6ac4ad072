"""Explore a saved comparison in marimo; cells that read the Explorer run again when it changes."""

import marimo

app = marimo.App(width="full")


@app.cell
def _():
    import marimo as mo

    import dpexplain.io
    from dpexplain_widgets import Explorer

    explorer = mo.ui.anywidget(Explorer(dpexplain.io.load("comparison.json")))
    explorer
    return explorer, mo


@app.cell
def _(explorer, mo):
    explorer.value
    mo.md(f"Selected: ε = {explorer.widget.epsilon:g}, {explorer.widget.term}")
    return


if __name__ == "__main__":
    app.run()
