import { createInterface } from 'node:readline';
import { openJournal } from '../../src/usage-records/journal/open-journal.ts';

// Lets a write beyond the file size limit fail instead of ending the process.
process.on('SIGXFSZ', () => {});

const [, , directory = '', owner = ''] = process.argv;
const journal = openJournal({
  directory,
  owner,
  logger: { info: () => {}, warn: () => {}, error: () => {} },
  meters: { failures: { inc: () => {} }, left: { set: () => {} } },
});
const say = (text: string): void => void process.stdout.write(`${text}\n`);
say('open');
createInterface(process.stdin).on('line', (line) => say(String(journal.append(line) !== undefined)));
