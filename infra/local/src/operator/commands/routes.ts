import { readFile } from 'node:fs/promises';
import { serviceOperations } from '@svc/contracts';
import { OperatorError } from '../address-book.ts';
import { argument, type Command } from '../command.ts';

/** The routes file of the gateway. */
export const routesCommands: readonly Command[] = [
  {
    words: ['routes', 'check'],
    usage: '<file>',
    about: 'judge a routes file as a running gateway would; nothing changes',
    run: async (context) => {
      const file = argument(context, 0, 'the file');
      const text = await readFile(file, 'utf8').catch(() => {
        throw new OperatorError(`${file} cannot be read`);
      });
      const { faults } = await context.call(serviceOperations.checkRoutesFile, { body: { text } });
      for (const fault of faults) context.print(fault);
      if (faults.length === 0) context.print(`${file} would be taken`);
      return faults.length === 0;
    },
  },
  {
    words: ['routes', 'reload'],
    usage: '',
    about: 'have the gateway that is asked read its routes file now',
    run: async ({ call, print }) => {
      const { loaded } = await call(serviceOperations.reloadRoutes, {});
      print(loaded ? 'the routes file is in force' : 'the file is bad and was refused: see `svc routes check`');
      return loaded;
    },
  },
];
