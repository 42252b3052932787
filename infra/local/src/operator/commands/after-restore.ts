import { publishingServices, restoreOperations } from '@svc/contracts';
import { OperatorError } from '../address-book.ts';
import { argument, type Command, oneOf } from '../command.ts';

/** Consequences of a database that was restored to an earlier moment. */
export const afterRestoreCommands: readonly Command[] = [
  {
    words: ['after-restore'],
    usage: `<${publishingServices.join('|')}> --restored-to <RFC 3339>`,
    about: 'begin a new epoch, catch up with the payment provider, and announce the present state',
    options: { 'restored-to': { type: 'string' } },
    run: async (context) => {
      const service = oneOf(argument(context, 0, 'the service'), publishingServices);
      const restored_to = String(context.values['restored-to'] ?? '');
      if (Number.isNaN(Date.parse(restored_to)))
        throw new OperatorError('--restored-to is missing or no RFC 3339 time');
      const done = await context.call(restoreOperations[service], {
        body: { restored_to: new Date(restored_to).toISOString() },
      });
      context.print(`${service}: epoch ${done.epoch} since ${done.began_at}`);
      context.print(`${done.reconciled} objects of the payment provider taken over, ${done.announced} announced`);
      return true;
    },
  },
];
