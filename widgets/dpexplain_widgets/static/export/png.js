// Text chunks of a PNG file.

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** A chunk "iTXt" with a keyword of Latin letters and a text in UTF-8. */
function textChunk(keyword, text) {
  const encode = (words) => new TextEncoder().encode(words);
  // Keyword, end, not compressed, no language, no translated keyword, text.
  const body = [...encode("iTXt"), ...encode(keyword), 0, 0, 0, 0, 0, ...encode(text)];
  const chunk = new Uint8Array(body.length + 8);
  const view = new DataView(chunk.buffer);
  view.setUint32(0, body.length - 4);
  chunk.set(body, 4);
  view.setUint32(body.length + 4, crc32(body));
  return chunk;
}

const HEADER_END = 33; // signature and IHDR

/** The bytes of a PNG file with a text for each keyword. */
export function withTexts(png, texts) {
  const chunks = Object.entries(texts).map(([keyword, text]) => textChunk(keyword, text));
  const size = chunks.reduce((sum, chunk) => sum + chunk.length, png.length);
  const result = new Uint8Array(size);
  result.set(png.subarray(0, HEADER_END));
  let end = HEADER_END;
  for (const chunk of [...chunks, png.subarray(HEADER_END)]) {
    result.set(chunk, end);
    end += chunk.length;
  }
  return result;
}
