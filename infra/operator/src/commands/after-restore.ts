import { setTimeout as sleep } from 'node:timers/promises';
import { type AfterRestore, type ConsumingService, consumingServices, restoreOperations } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { argument, type Command, type CommandContext, oneOf } from '../command.ts';
import { UsageError } from '../operator-error.ts';

const TRIES_MAX = 5;
const TRY_AGAIN_MS = 2_000;

/** Consequences of a database that was restored to an earlier moment. */
export const afterRestoreCommands: readonly Command[] = [
  {
    words: ['after-restore'],
    usage: `<${consumingServices.join('|')}> --restored-to <RFC 3339>`,
    argumentsMax: 1,
    about: 'begin a new epoch, catch up with the payment provider, announce the present state, read facts again',
    options: { 'restored-to': { type: 'string' } },
    run: async (context) => {
      const service = oneOf(argument(context, 0, 'the service'), consumingServices);
      const done = await callPatiently(context, service, restoredTo(context.values));
      if (done.epoch !== null) {
        context.print(`${service}: epoch ${done.epoch} since ${done.began_at}`);
        context.print(`${done.reconciled} objects of the payment provider taken over, ${done.announced} announced`);
      }
      context.print(`${service}: its consumers read ${done.read_again} facts again and ignore those that it knows`);
      return true;
    },
  },
];

/** Date, time and zone, as in RFC 3339 section 5.6. */
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

const restoredTo = (values: CommandContext['values']): string => {
  const text = String(values['restored-to'] ?? '');
  const timeMs = Date.parse(text);
  if (!RFC_3339.test(text) || Number.isNaN(timeMs))
    throw new UsageError('--restored-to is missing or no RFC 3339 time');
  if (timeMs > Date.now()) throw new UsageError('--restored-to is in the future');
  return new Date(timeMs).toISOString();
};

/** Calls the route. A service that has just started over a restored database may not be able to do all of it yet. */
const callPatiently = async (
  { call, print }: CommandContext,
  service: ConsumingService,
  restored_to: string,
): Promise<AfterRestore> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call(restoreOperations[service], { body: { restored_to } });
    } catch (error) {
      const isTemporary = error instanceof AppError && error.code === 'service_unavailable';
      if (!isTemporary || tries === TRIES_MAX) throw error;
      print(`${service}: unavailable; trying again`);
      await sleep(TRY_AGAIN_MS);
    }
  }
};
