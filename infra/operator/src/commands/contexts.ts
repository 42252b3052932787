import { type Command, printTable } from '../command.ts';
import { OperatorError } from '../operator-error.ts';

/** Shows the environments that `--context` chooses among. */
export const contextCommands: readonly Command[] = [
  {
    words: ['contexts'],
    usage: '',
    about: 'list the environments of the file of contexts; calls none',
    callsServices: false,
    run: async ({ contexts, print }) => {
      const { file, current, contexts: known } = contexts();
      const rows = Object.entries(known).map(([name, context]) => [
        name === current ? `${name} (current)` : name,
        'data_dir' in context ? context.data_dir : Object.values(context.urls).join(' '),
      ]);
      if (rows.length === 0) throw new OperatorError(`${file} has no contexts`);
      printTable(print, ['CONTEXT', 'SERVICES'], rows);
      return true;
    },
  },
];
