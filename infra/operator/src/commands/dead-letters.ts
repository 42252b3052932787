import {
  type ConsumingService,
  consumingServices,
  type DeadLetter,
  type DeadLetterOutcome,
  inboxOperations,
  outboxOperations,
  publishingServices,
} from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { argument, type CallService, type Command, type CommandContext, oneOf, printTable } from '../command.ts';
import { UsageError } from '../operator-error.ts';

const PAGE = 100;

/** Commands that list, replay and discard dead letters. */
export const deadLetterCommands: readonly Command[] = [
  {
    words: ['dead-letters', 'list'],
    usage: `<${consumingServices.join('|')}>`,
    argumentsMax: 1,
    about: 'messages that could not be handled, oldest first',
    run: async (context) => {
      const letters = await listAll(context.call, oneOf(argument(context, 0, 'the service'), consumingServices));
      printTable(
        context.print,
        ['ID', 'PARKED AT', 'CONSUMER', 'SUBJECT', 'DELIVERIES', 'ERROR'],
        letters.map((row) => [row.id, row.created_at, row.consumer, row.subject, row.deliveries, row.error_code]),
      );
      return true;
    },
  },
  {
    words: ['dead-letters', 'replay'],
    usage: `<${consumingServices.join('|')}> (<id>… | --all)`,
    argumentsMax: Number.POSITIVE_INFINITY,
    about: 'replay them; each takes effect once',
    options: { all: { type: 'boolean' } },
    run: async (context) => {
      const service = oneOf(argument(context, 0, 'the service'), consumingServices);
      const ids = await chosen(context.call, service, context.positionals.slice(1), context.values.all === true);
      if (ids.length === 0) context.print('there are no dead letters');
      const { replayDeadLetter } = inboxOperations[service];
      return await forEach(context, ids, (id) => context.call(replayDeadLetter, { params: { id } }));
    },
  },
  {
    words: ['dead-letters', 'discard'],
    usage: `<${consumingServices.join('|')}> <id>…`,
    argumentsMax: Number.POSITIVE_INFINITY,
    about: 'discard them without effect',
    run: async (context) => {
      const service = oneOf(argument(context, 0, 'the service'), consumingServices);
      const ids = await chosen(context.call, service, context.positionals.slice(1), false);
      const { discardDeadLetter } = inboxOperations[service];
      return await forEach(context, ids, (id) => context.call(discardDeadLetter, { params: { id } }));
    },
  },
];

const chosen = async (
  call: CallService,
  service: ConsumingService,
  ids: readonly string[],
  isAll: boolean,
): Promise<readonly string[]> => {
  if (isAll) return (await listAll(call, service)).map(({ id }) => id);
  if (ids.length === 0) throw new UsageError('name the dead letters by their ids');
  const wrong = ids.find((id) => !/^[1-9]\d{0,17}$/.test(id));
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is no id of a dead letter`);
  return ids;
};

/**
 * Applies the action to each dead letter and prints the outcome; a missing one does not stop the rest. Returns true if
 * none failed.
 */
const forEach = async (
  { print }: CommandContext,
  ids: readonly string[],
  act: (id: string) => Promise<DeadLetterOutcome>,
): Promise<boolean> => {
  let isGood = true;
  for (const id of ids) {
    try {
      const outcome = await act(id);
      print(describe(outcome));
      if (outcome.outcome === 'failed') isGood = false;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
      print(`${id}: no such dead letter, or no handler for its kind`);
      isGood = false;
    }
  }
  return isGood;
};

const listAll = async (call: CallService, service: ConsumingService): Promise<DeadLetter[]> => {
  const letters: DeadLetter[] = [];
  for (;;) {
    const after = letters.at(-1)?.id;
    const page = await call(inboxOperations[service].listDeadLetters, { query: { limit: PAGE, after } });
    letters.push(...page.data);
    if (!page.has_more) return letters;
  }
};

const describe = ({ id, outcome, error_code }: DeadLetterOutcome): string =>
  `${id}: ${outcome}${error_code === null ? '' : ` (${error_code})`}`;

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
