// Files that the browser saves.
import { html } from "../kit/dom.js";

/**
 * Save a text or picture as a file; its URL lives long enough for a "Save as" dialog.
 * @param {BlobPart} content
 * @param {string} type
 * @param {string} name
 */
export function download(content, type, name) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = html("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
