import type { Page } from 'playwright-core';

/** What pages did that they should not. */
export interface PageWatch {
  /** Complaints of the browser, breaches of the pages' own policies above all; without those that were foreseen. */
  complaints(): string[];
  /** Requests to other origins than those that are at home here. */
  outside(): string[];
  follow(page: Page): Page;
}

/** Watches pages for complaints and for requests to other origins. */
export const watchPages = (home: readonly string[], foreseen: RegExp = /^$/): PageWatch => {
  const complaints: string[] = [];
  const outside: string[] = [];
  return {
    complaints: () => complaints.filter((text) => !foreseen.test(text)),
    outside: () => outside,
    follow: (page) => {
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('request', (sent) => {
        const url = sent.url();
        if (!url.startsWith('data:') && !home.includes(new URL(url).origin)) outside.push(url);
      });
      return page;
    },
  };
};
