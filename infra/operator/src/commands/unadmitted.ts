import { type UnadmittedUsage, unadmittedOperations } from '@svc/contracts';
import { type Command, type CommandContext, printTable } from '../command.ts';
import { UsageError } from '../operator-error.ts';

const PAGE = 100;
const SINCE = { since: { type: 'string' } } as const;

/** Commands for usage that billing never admitted, such as that of requests which a restored database forgot. */
export const unadmittedCommands: readonly Command[] = [
  {
    words: ['unadmitted', 'list'],
    usage: '[--since <RFC 3339>]',
    about: 'usage of requests that were never admitted, with account and cost',
    options: SINCE,
    run: async (context) => {
      const rows: UnadmittedUsage[] = [];
      for (let hasMore = true; hasMore; ) {
        const query = { limit: PAGE, after: rows.at(-1)?.request_id, since: sinceOf(context) ?? undefined };
        const page = await context.call(unadmittedOperations.list, { query });
        rows.push(...page.data);
        hasMore = page.has_more;
      }
      printTable(
        context.print,
        ['REQUEST', 'ACCOUNT', 'KEY OR APP', 'COST MICROS', 'FINISHED'],
        rows.map((row) => [
          ...[row.request_id, row.svc_user_id, row.key_id ?? row.client_id],
          ...[row.cost_micros, row.finished_at],
        ]),
      );
      return true;
    },
  },
  {
    words: ['unadmitted', 'charge'],
    usage: '[--since <RFC 3339>]',
    about: 'take the cost from the wallets of API keys, once; requests of plans are discarded',
    options: SINCE,
    run: (context) => resolve(context, 'charge'),
  },
  {
    words: ['unadmitted', 'discard'],
    usage: '[--since <RFC 3339>]',
    about: 'charge it to no account',
    options: SINCE,
    run: (context) => resolve(context, 'discard'),
  },
];

const resolve = async (context: CommandContext, action: 'charge' | 'discard'): Promise<true> => {
  const total = { charged: 0, charged_micros: 0, uncovered_micros: 0, discarded: 0 };
  for (let hasMore = true; hasMore; ) {
    const body = { action, since: sinceOf(context) };
    const { has_more, ...done } = await context.call(unadmittedOperations.resolve, { body });
    total.charged += done.charged;
    total.charged_micros += done.charged_micros;
    total.uncovered_micros += done.uncovered_micros;
    total.discarded += done.discarded;
    hasMore = has_more;
  }
  const { charged, charged_micros, uncovered_micros, discarded } = total;
  context.print(`${charged} charged: ${charged_micros} micros paid, ${uncovered_micros} not covered by wallets`);
  context.print(`${discarded} discarded`);
  return true;
};

const sinceOf = ({ values }: CommandContext): string | null => {
  const text = values['since'];
  if (text === undefined) return null;
  const timeMs = Date.parse(String(text));
  if (Number.isNaN(timeMs)) throw new UsageError('--since is no RFC 3339 time');
  return new Date(timeMs).toISOString();
};
