import { expect, test } from 'vitest';
import { findCommands } from './find-commands.ts';

const commands = [
  { to: '/apps/app_1', label: 'Notes for teams', group: 'Apps' },
  { to: '/usage', label: 'Usage', group: 'Pages' },
  { to: '/apps', label: 'Apps', group: 'Pages' },
  { to: '/docs/it/gateway', label: 'Usare le chiavi: perché', group: 'Guide' },
];
const find = (typed: string): string[] => findCommands(commands, typed).map(({ to }) => to ?? '');

test('finds by every word, in the name or the group, regardless of case and accents', () => {
  expect(find('TEAM notes')).toEqual(['/apps/app_1']);
  expect(find('perche')).toEqual(['/docs/it/gateway']);
  expect(find('nothing like it')).toEqual([]);
});

test('lists names that start with the text first, and all names without a text', () => {
  expect(find('apps')).toEqual(['/apps', '/apps/app_1']);
  expect(find(' ')).toHaveLength(4);
});
