import { outboxOperations, publishingServices } from '@svc/contracts';
import { argument, type Command, oneOf } from '../command.ts';

/** Commands that restore NATS from the outboxes. */
export const outboxCommands: readonly Command[] = [
  {
    words: ['outbox', 'reconcile'],
    usage: `<${publishingServices.join('|')}|all>`,
    argumentsMax: 1,
    about: 'compare the streams with the outbox now and republish lost facts',
    run: async (context) => {
      const asked = oneOf(argument(context, 0, 'the service'), [...publishingServices, 'all']);
      for (const service of asked === 'all' ? publishingServices : [asked]) {
        await context.call(outboxOperations[service].reconcileOutbox, {});
        context.print(`${service}: its relay compares now; see \`svc status\``);
      }
      return true;
    },
  },
];
