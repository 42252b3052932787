import { setTimeout as sleep } from 'node:timers/promises';
import { consumingServices, secretOperations, serviceOperations } from '@svc/contracts';
import { argument, type Command, type CommandContext, oneOf, type Print, printTable } from '../command.ts';
import { OperatorError } from '../operator-error.ts';

/** Values that other transactions have locked are tried again this often, after a pause. */
const IDLE_CALLS_MAX = 60;
const PAUSE_MS = 500;

const servicesOf = ({ positionals: [service] }: CommandContext) =>
  service === undefined ? consumingServices : [oneOf(service, consumingServices)];

export const secretCommands: readonly Command[] = [
  {
    words: ['secrets', 'list'],
    usage: '[<service>]',
    argumentsMax: 1,
    about: 'list the keys of each secret, and how many stored values need them',
    run: async (context) => {
      const rows = [];
      for (const service of servicesOf(context)) {
        const { data } = await context.call(secretOperations.list[service], {});
        for (const { setting, key_id, configured, writes, values } of data) {
          rows.push([service, setting, key_id, writes ? 'first' : configured ? 'yes' : 'MISSING', values]);
        }
      }
      printTable(context.print, ['SERVICE', 'SECRET', 'KEY', 'LISTED', 'VALUES'], rows);
      return rows.every(([, , , listed]) => listed !== 'MISSING');
    },
  },
  {
    words: ['secrets', 'reencrypt'],
    usage: '[<service>]',
    argumentsMax: 1,
    about: 'move stored values to the first key of each secret, so that the others can be removed',
    run: async (context) => {
      for (const service of servicesOf(context)) {
        let total = 0;
        let isDone = false;
        for (let idleCalls = 0; !isDone && idleCalls < IDLE_CALLS_MAX; ) {
          const { reencrypted, done } = await context.call(secretOperations.reencrypt[service], {});
          total += reencrypted;
          isDone = done;
          idleCalls = reencrypted === 0 ? idleCalls + 1 : 0;
          if (!done && reencrypted === 0) await sleep(PAUSE_MS);
        }
        context.print(`${service}: ${total} moved${isDone ? '' : ', others are left: try again'}`);
        if (!isDone) return false;
      }
      return true;
    },
  },
  ...(
    [
      ['receipt-keys', serviceOperations.withdrawReceiptKeys],
      ['proof-keys', serviceOperations.withdrawProofKeys],
    ] as const
  ).map(
    ([name, route]): Command => ({
      words: [name, 'withdraw'],
      usage: '',
      about: 'after a leak: stop publishing the keys of removed secrets, whose signatures become invalid',
      run: async ({ call, print }) => {
        const { withdrawn } = await call(route, {});
        print(`${withdrawn} withdrawn`);
        return true;
      },
    }),
  ),
];

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
