import { readFile } from 'node:fs/promises';
import { newId } from '@svc/contracts';
import { beforeEach, describe, expect, test } from 'vitest';
import { hasChromium, useBrowser } from '../support/browser.ts';
import { useConsole } from '../support/console.ts';
import { furnish, newUsage } from '../support/furnish.ts';
import { addPerson, openAs } from '../support/people.ts';

describe.skipIf(!hasChromium())('receipts', () => {
  const console = useConsole();
  const browser = useBrowser();
  beforeEach(() => browser.expectComplaints('Failed to load resource'));

  test('are downloaded with a request, and verified without an account', async () => {
    const person = addPerson(console, 'personal');
    furnish(console, person);
    const page = await openAs({ browser, console, person }, '/usage');
    const [record] = person.has.usage;
    await page.getByRole('button', { name: `Details of ${record?.request_id}` }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download receipt' }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe(`${record?.request_id}.jws`);
    const receipt = await readFile(await file.path(), 'utf8');
    const stranger = await browser.open(`${console.url}/verify`);
    const sent: string[] = [];
    stranger.on('request', (request) => sent.push(request.postData() ?? ''));
    await stranger.getByRole('textbox', { name: 'Receipt' }).fill(` ${receipt}\n`);
    await stranger.getByRole('button', { name: 'Verify' }).click();
    await stranger.getByText('This receipt is genuine').waitFor();
    await stranger.getByText(String(record?.request_id)).waitFor();
    await stranger.getByText('€0.000474').waitFor();
    expect(sent.join('')).not.toContain(receipt);
  });

  test('are refused if they were changed, or are none', async () => {
    const person = addPerson(console, 'personal');
    const page = await openAs({ browser, console, person }, '/verify');
    await page.getByRole('textbox', { name: 'Receipt' }).fill('nothing of the kind');
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('This is not a receipt.').waitFor();
    const { signReceipt } = await import('../support/mock-api/receipts.ts');
    const [head, body = '', signature] = (
      await signReceipt(newUsage(newId('key'), 1), person.account.svc_user_id)
    ).split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
    const cheaper = Buffer.from(JSON.stringify({ ...claims, cost_micros: 1 })).toString('base64url');
    await page.getByRole('textbox', { name: 'Receipt' }).fill(`${head}.${cheaper}.${signature}`);
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('It has been changed after it was signed.').waitFor();
    expect(await page.getByText('genuine').count()).toBe(0);
  });

  test('say that the cost is not final yet', async () => {
    const person = addPerson(console, 'personal');
    person.has.usage = [newUsage(newId('key'), 0, { state: 'uncertain' })];
    const page = await openAs({ browser, console, person }, '/usage');
    await page.getByRole('button', { name: /^Details of/ }).click();
    await page.getByRole('button', { name: 'Download receipt' }).click();
    await page.getByText('The cost of this request is not final yet.').waitFor();
  });
});
