import { serviceOperations } from '@svc/contracts';
import { argument, type Command, type CommandContext, type Print, printTable } from '../command.ts';
import { OperatorError } from '../operator-error.ts';

type Keys = Awaited<ReturnType<typeof listKeys>>['data'];

const listKeys = ({ call }: CommandContext) => call(serviceOperations.listSigningKeys, {});

const printKeys = (print: Print, keys: Keys): true => {
  printTable(
    print,
    ['KEY', 'STATE', 'CREATED', 'ACTIVATED', 'RETIRED'],
    keys.map((key) => [key.kid, key.state, key.created_at, key.activated_at, key.retired_at]),
  );
  return true;
};

/** Commands for the keys that sign tokens. */
export const signingKeyCommands: readonly Command[] = [
  {
    words: ['signing-keys', 'list'],
    usage: '',
    about: 'the keys that sign tokens: next, active, retired',
    run: async (context) => printKeys(context.print, (await listKeys(context)).data),
  },
  {
    words: ['signing-keys', 'rotate'],
    usage: '<kid of the active key>',
    argumentsMax: 1,
    about: 'sign with the next key from now on; live tokens stay valid',
    run: async (context) => {
      const active_kid = argument(context, 0, 'the id of the active key');
      const { rotated, data } = await context.call(serviceOperations.rotateSigningKeys, { body: { active_kid } });
      if (!data.some(({ kid }) => kid === active_kid)) throw new OperatorError(`there is no key "${active_kid}"`);
      context.print(rotated ? 'the next key signs now' : 'nothing to do: this is not the active key');
      return printKeys(context.print, data);
    },
  },
];
