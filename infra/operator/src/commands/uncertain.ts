import { serviceOperations, type UncertainReservation } from '@svc/contracts';
import { argument, type Command, printTable } from '../command.ts';
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
