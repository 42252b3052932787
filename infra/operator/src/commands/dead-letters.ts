import {
  type ConsumingService,
  consumingServices,
  type DeadLetter,
  type DeadLetterOutcome,
  inboxOperations,
} from '@svc/contracts';
import { OperatorError } from '../address-book.ts';
import { argument, type CallService, type Command, oneOf, printTable } from '../command.ts';

const PAGE = 100;

/** Looking at what could not be handled, and handling it again or giving it up. */
export const deadLetterCommands: readonly Command[] = [
  {
    words: ['dead-letters', 'list'],
    usage: `<${consumingServices.join('|')}>`,
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
    about: 'handle them again, each with its effect once',
    options: { all: { type: 'boolean' } },
    run: async (context) => {
      const service = oneOf(argument(context, 0, 'the service'), consumingServices);
      const ids = await chosen(context.call, service, context.positionals.slice(1), context.values.all === true);
      const outcomes: DeadLetterOutcome[] = [];
      for (const id of ids) {
        const outcome = await context.call(inboxOperations[service].replayDeadLetter, { params: { id } });
        context.print(describe(outcome));
        outcomes.push(outcome);
      }
      return outcomes.every(({ outcome }) => outcome !== 'failed');
    },
  },
  {
    words: ['dead-letters', 'discard'],
    usage: `<${consumingServices.join('|')}> <id>…`,
    about: 'give them up; their effect never happens',
    run: async (context) => {
      const service = oneOf(argument(context, 0, 'the service'), consumingServices);
      const ids = await chosen(context.call, service, context.positionals.slice(1), false);
      for (const id of ids) {
        context.print(describe(await context.call(inboxOperations[service].discardDeadLetter, { params: { id } })));
      }
      return true;
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
  if (ids.length === 0) throw new OperatorError('name the dead letters by their ids');
  return ids;
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
