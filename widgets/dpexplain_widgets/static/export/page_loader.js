// The first script of a page without a kernel: unpacks the styles, the states and the code that
// draws them. The policy of the page lists the hash of that code, so no other code can run.

// Letters from "!" to "~" without "&", "<" and ">"; two letters are 13 bits.
const signOf = (letter) => {
  const code = letter.charCodeAt(0);
  return code - 33 - Number(code > 38) - Number(code > 60) - Number(code > 62);
};

const bytesOf = (folded) => {
  const [size, letters] = folded.split(" ");
  const bytes = new Uint8Array(Number(size));
  let [held, bits, place] = [0, 0, 0];
  for (let start = 0; start < letters.length; start += 2) {
    held = (held << 13) | (91 * signOf(letters[start]) + signOf(letters[start + 1]));
    for (bits += 13; bits >= 8; place += 1) {
      bits -= 8;
      bytes[place] = held >> bits;
    }
    held &= (1 << bits) - 1;
  }
  return bytes;
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
