import { expect, test } from 'vitest';
import type { StackContext } from './stack-context.ts';
import { startBeside, startOptional } from './start-sandboxes.ts';

const contextWith = (lines: string[], signal = new AbortController().signal): StackContext =>
  // The functions under test use nothing else.
  ({ report: { line: (text: string) => lines.push(text) }, signal }) as unknown as StackContext;

const fail = (): Promise<void> => Promise.reject(new Error('the console ended with code 3'));

test('reports the failure of an optional part in one line and does not reject', async () => {
  const lines: string[] = [];
  await startOptional(contextWith(lines), fail);
  expect(lines).toEqual(['the console ended with code 3']);
});

test('keeps quiet when the start was stopped', async () => {
  const lines: string[] = [];
  await startOptional(contextWith(lines, AbortSignal.abort()), fail);
  expect(lines).toEqual([]);
});

test('prints no progress of a part that starts after the ready line', async () => {
  const lines: string[] = [];
  await startBeside(contextWith(lines), async ({ report }) => report.line('starting'));
  expect(lines).toEqual([]);
});
