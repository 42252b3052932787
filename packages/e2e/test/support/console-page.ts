import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect, inject } from 'vitest';

const BUILD_TIMEOUT_MS = 120_000;
const PASSWORD = 'a rather long passphrase';

/** Waits until the console's pages are built; browsers reload until then. */
export const waitForConsole = async (page: Page, base = inject('baseUrl')): Promise<void> => {
  await page.goto(`${base}/?locale=en`);
  await page.getByRole('link', { name: 'Create an account' }).waitFor({ timeout: BUILD_TIMEOUT_MS });
};

/** Signs up through the console's form and arrives on the overview. */
export const signUpInConsole = async (page: Page, type: 'personal' | 'business', base = inject('baseUrl')) => {
  const email = `${type}-${randomUUID()}@example.com`;
  await page.goto(`${base}/?locale=en`);
  await page.getByRole('link', { name: 'Create an account' }).click();
  if (type === 'business') {
    await page.getByRole('radio', { name: /Business/ }).check();
    await page.getByLabel('Business name').fill('Example Business');
  }
  await page.getByLabel('Name (optional)').fill('Ada Rossi');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel(/^Password/).fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return { email, password: PASSWORD };
};

/** Opens a page of the console by its link in the navigation. */
export const goTo = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
};

/** Expects no readable secrets: nothing in storage, and only HttpOnly cookies. */
export const expectNothingToSteal = async (page: Page): Promise<void> => {
  const readable = String(
    await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'),
  );
  expect(readable).not.toMatch(/svc_|eyJ|token/i);
  const cookies = await page.context().cookies();
  expect(cookies.filter(({ httpOnly }) => !httpOnly)).toEqual([]);
};
