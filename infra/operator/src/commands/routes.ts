import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { serviceOperations } from '@svc/contracts';
import { argument, type Command } from '../command.ts';
import { OperatorError } from '../operator-error.ts';

/** Commands for the gateway's routes file. */
export const routesCommands: readonly Command[] = [
  {
    words: ['routes', 'check'],
    usage: '<file, or - for standard input>',
    argumentsMax: 1,
    about: 'check a routes file like a running gateway; changes nothing',
    run: async (context) => {
      const file = argument(context, 0, 'the file');
      const reading = file === '-' ? readAll(process.stdin) : readFile(file, 'utf8');
      const text = await reading.catch(() => {
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
