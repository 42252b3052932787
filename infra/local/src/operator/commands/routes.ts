import { readFile } from 'node:fs/promises';
import { serviceOperations } from '@svc/contracts';
import { OperatorError } from '../address-book.ts';
import { argument, type Command } from '../command.ts';

/** Commands for the gateway's routes file. */
export const routesCommands: readonly Command[] = [
  {
    words: ['routes', 'check'],
    usage: '<file>',
    about: 'check a routes file like a running gateway; changes nothing',
    run: async (context) => {
      const file = argument(context, 0, 'the file');
      const text = await readFile(file, 'utf8').catch(() => {
        throw new OperatorError(`${file} cannot be read`);
      });
      const { faults } = await context.call(serviceOperations.checkRoutesFile, { body: { text } });
      for (const fault of faults) context.print(fault);
      if (faults.length === 0) context.print(`${file} is valid`);
      return faults.length === 0;
    },
  },
  {
    words: ['routes', 'reload'],
    usage: '',
    about: 'make the addressed gateway reload its routes file',
    run: async ({ call, print }) => {
      const { loaded } = await call(serviceOperations.reloadRoutes, {});
      print(loaded ? 'the routes file is in force' : 'the file is invalid and was refused: see `svc routes check`');
      return loaded;
    },
  },
];
