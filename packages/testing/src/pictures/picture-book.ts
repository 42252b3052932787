import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { CHROMIUM_ARGS } from '../find-chromium.ts';
import { comparePicture } from './compare-picture.ts';
import { type DocumentFiles, showDocument } from './show-document.ts';
import { LOOKS, type Look, takePicture, wear } from './take-picture.ts';

/** Compares pictures of documents with the references in a folder. */
export interface PictureBook {
  /** Takes a picture in each look: wide, light and English, then on a phone, dark and Italian. */
  readonly compare: (
    name: string,
    documentIn: (locale: Look['locale']) => string,
    files?: DocumentFiles,
  ) => Promise<void>;
}

/** Starts a browser before the tests of a file and ends it after them. */
export const usePictureBook = (folder: string, chromiumPath: string | undefined): PictureBook => {
  let browser: Browser | undefined;
  let page: Page;
  beforeAll(async () => {
    if (chromiumPath === undefined) return;
    browser = await chromium.launch({
      executablePath: chromiumPath,
      args: CHROMIUM_ARGS,
    });
    page = await browser.newPage();
  });
  afterAll(() => browser?.close());
  return {
    compare: async (name, documentIn, files) => {
      for (const look of LOOKS) {
        await wear(page, look);
        await showDocument(page, documentIn(look.locale), files);
        comparePicture({ folder, name: `${name}-${look.name}`, bytes: await takePicture(page) });
      }
    },
  };
};
