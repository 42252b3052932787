import { internalRoutes } from '@svc/contracts';
import { argument, type Command } from '../command.ts';
import { UsageError } from '../operator-error.ts';

/** Commands that refund top-ups. */
export const refundCommands: readonly Command[] = [
  {
    words: ['refund'],
    usage: '<user id> <checkout session id> <refund id of yours> --amount-micros <n>',
    argumentsMax: 3,
    about: 'refund a top-up, or a part of it; once per refund id',
    options: { 'amount-micros': { type: 'string' } },
    run: async (context) => {
      const svc_user_id = argument(context, 0, 'the user id');
      const session_id = argument(context, 1, 'the checkout session id');
      const refund_id = argument(context, 2, 'a refund id of yours');
      const { state, amount_micros, currency } = await context.call(internalRoutes.refundTopUp, {
        params: { svc_user_id },
        body: { refund_id, session_id, amount_micros: amountOf(context.values['amount-micros']) },
      });
      context.print(`${refund_id}: ${state}, ${amount_micros} micros of ${currency}`);
      return state !== 'refused';
    },
  },
];

const amountOf = (amount: unknown): number => {
  if (typeof amount !== 'string' || !/^[1-9]\d{0,14}$/.test(amount)) {
    throw new UsageError('--amount-micros is a whole number');
  }
  return Number(amount);
};
