// The first script of a page without a kernel: unpacks the styles, the states and the code that
// draws them. The policy of the page lists the hash of that code, so no other code can run.

const SIGNS_OF_85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%,()*+-;\"='?@^_`{|}~";

// Five letters are a number in base 85, which is four bytes. Zeros at the end are padding.
const bytesOf = (folded) => {
  const [size, letters] = folded.split(" ");
  const values = new Map(Array.from(SIGNS_OF_85, (letter, i) => [letter, i]));
  const view = new DataView(new ArrayBuffer((letters.length / 5) * 4));
  for (let start = 0; start < letters.length; start += 5) {
    let number = 0;
    for (let i = start; i < start + 5; i += 1) number = 85 * number + values.get(letters[i]);
    view.setUint32((start / 5) * 4, number);
  }
  return view.buffer.slice(0, Number(size));
};

const inflate = async (folded) => {
  const stream = new Blob([bytesOf(folded)]).stream().pipeThrough(new DecompressionStream("deflate"));
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
    "This browser is too old for the interactive page, so it shows a picture.";
});
