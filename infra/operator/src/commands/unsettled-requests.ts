import {
  serviceOperations,
  type UnadmittedUsage,
  type UncertainReservation,
  unadmittedOperations,
} from '@svc/contracts';
import { argument, type Command, type CommandContext, printTable } from '../command.ts';
import { UsageError } from '../operator-error.ts';

const PAGE = 100;

/** Commands for requests with an unknown outcome. */
export const uncertainCommands: readonly Command[] = [
  {
    words: ['uncertain', 'list'],
    usage: '',
    about: 'requests with an unknown outcome, oldest first',
    run: async ({ call, print }) => {
      const rows: UncertainReservation[] = [];
      for (;;) {
        const after = rows.at(-1)?.request_id;
        const page = await call(serviceOperations.listUncertainReservations, { query: { limit: PAGE, after } });
        rows.push(...page.data);
        if (!page.has_more) break;
      }
      printTable(
        print,
        ['REQUEST', 'USER', 'SERVICE', 'ESTIMATE MICROS', 'ADMITTED', 'UNCERTAIN SINCE'],
        rows.map((row) => [
          ...[row.request_id, row.svc_user_id, row.service],
          ...[row.estimate_micros, row.created_at, row.uncertain_at],
        ]),
      );
      return true;
    },
  },
  {
    words: ['uncertain', 'settle'],
    usage: '<request_id> (--cost-micros <n> | --at-estimate)',
    argumentsMax: 1,
    about: 'settle one at the cost the provider proves, or at its estimate',
    options: { 'cost-micros': { type: 'string' }, 'at-estimate': { type: 'boolean' } },
    run: async (context) => {
      const request_id = argument(context, 0, 'the request id');
      const cost_micros = costOf(context.values);
      const route = serviceOperations.settleUncertainReservation;
      const { state, settled } = await context.call(route, { params: { request_id }, body: { cost_micros } });
      context.print(settled ? `${request_id}: settled` : `${request_id}: nothing to do, it is ${state}`);
      return true;
    },
  },
];

const costOf = (values: Readonly<Record<string, unknown>>): number | null => {
  const cost = values['cost-micros'];
  if ((cost === undefined) === (values['at-estimate'] !== true)) {
    throw new UsageError('say either --cost-micros or --at-estimate');
  }
  if (cost === undefined) return null;
  if (typeof cost !== 'string' || !/^\d{1,15}$/.test(cost)) throw new UsageError('--cost-micros is a whole number');
  return Number(cost);
};

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
