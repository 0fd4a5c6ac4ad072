// The first script of a page without a kernel: unfolds the style, the states and the code that
// draws them. The policy of the page names the hash of that code, so nothing else can run.

const inflate = async (folded) => {
  const bytes = Uint8Array.from(atob(folded), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
};

const unfoldPage = async () => {
  for (const folded of document.querySelectorAll("[data-dpx-folded]")) {
    folded.textContent = await inflate(folded.textContent);
  }
  const take = (id) => {
    const element = document.getElementById(id);
    element.remove();
    return element.textContent;
  };
  const style = document.createElement("style");
  style.textContent = take("dpx-style");
  document.head.append(style);
  const code = take("dpx-code");
  const policy = globalThis.trustedTypes?.createPolicy("dpexplain", { createScript: (text) => text });
  const script = document.createElement("script");
  script.type = "module";
  script.textContent = policy ? policy.createScript(code) : code;
  document.head.append(script);
};

unfoldPage().catch(() => {
  document.getElementById("dpx-static").hidden = false;
  document.getElementById("dpx-static-note").textContent =
    "This browser is too old to use the page, so it shows a picture of it.";
});
