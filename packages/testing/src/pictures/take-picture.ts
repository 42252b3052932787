import type { Locator, Page } from 'playwright-core';

/** The two looks of a page: between them, both languages, both themes and both widths. */
export const LOOKS = [
  { name: 'wide', locale: 'en', colorScheme: 'light', width: 1280, height: 860 },
  { name: 'phone', locale: 'it', colorScheme: 'dark', width: 390, height: 780 },
] as const;

export type Look = (typeof LOOKS)[number];

/** Sets the width and the theme of a page. */
export const wear = async (page: Page, { colorScheme, width, height }: Look): Promise<void> => {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
};

/** Ids, whose characters are others in each run. Pictures show as many zeros. */
const VARYING_ID = String.raw`\b(app|evt|key|msg|req|ses|usr|whsec)_([0-9A-Za-z]{4,})`;
const VARYING_ORIGIN = String.raw`127\.0\.0\.1:\d+`;

const FIX_VARYING = `(() => {
  const id = new RegExp(${JSON.stringify(VARYING_ID)}, 'g');
  const origin = new RegExp(${JSON.stringify(VARYING_ORIGIN)}, 'g');
  const fix = (text) => text
    .replace(id, (whole, prefix, rest) => prefix + '_' + '0'.repeat(rest.length))
    .replace(origin, 'svc.example');
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = fix(node.data);
    if (text !== node.data) node.data = text;
  }
  for (const input of document.querySelectorAll('input')) {
    const text = fix(input.value);
    if (text !== input.value) input.value = text;
  }
})()`;

/** Takes a picture of what a window shows, or of one element, without what differs between two runs. */
export const takePicture = async (page: Page, element: Locator | undefined = undefined): Promise<Uint8Array> => {
  await page.evaluate('document.fonts.ready.then(() => undefined)');
  await page.evaluate(FIX_VARYING);
  return await (element ?? page).screenshot({ animations: 'disabled', caret: 'hide', scale: 'css' });
};
