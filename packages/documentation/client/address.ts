/** Address in the examples: that of a copy on the reader's own machine. */
const EXAMPLE = 'http://127.0.0.1:8080';

/** Puts the address of this server into the examples, where a reader would have to look it up. */
export const fillInAddress = (): void => {
  if (location.origin === EXAMPLE) return;
  for (const code of document.querySelectorAll('figure.code code')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      if (text.nodeValue?.includes(EXAMPLE)) text.nodeValue = text.nodeValue.replaceAll(EXAMPLE, location.origin);
    }
  }
};
