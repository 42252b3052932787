import { type DailyUse, USAGE_HISTORY_APPS_MAX } from '@svc/contracts';
import type { Knex } from 'knex';
import { type DayUse, listDayUse } from '../reservations/index.ts';

const DAY_MS = 86_400_000;

/** Reads the use of an account's subscription by UTC day, oldest first, up to today. */
export const readUsageHistory = async (database: Knex, userId: string, days: number): Promise<{ data: DailyUse[] }> => {
  const { today, uses } = await listDayUse(database, userId, days);
  const byDay = Map.groupBy(uses, ({ day }) => day);
  const last = Date.parse(today);
  return {
    data: Array.from({ length: days }, (_, index) => {
      const day = new Date(last - (days - 1 - index) * DAY_MS).toISOString().slice(0, 10);
      return describeDay(day, byDay.get(day) ?? []);
    }),
  };
};

const describeDay = (day: string, uses: readonly DayUse[]): DailyUse => {
  const apps = [...Map.groupBy(uses, ({ clientId }) => clientId)].map(([client_id, of]) => ({ client_id, ...sum(of) }));
  return {
    day,
    ...sum(uses),
    services: {
      chat: sum(uses.filter(({ service }) => service === 'chat')),
      audio_transcription: sum(uses.filter(({ service }) => service === 'audio_transcription')),
    },
    apps: apps.sort((a, b) => b.cost_micros - a.cost_micros).slice(0, USAGE_HISTORY_APPS_MAX),
  };
};

const sum = (uses: readonly DayUse[]): { requests: number; cost_micros: number } => ({
  requests: uses.reduce((total, { requests }) => total + requests, 0),
  cost_micros: uses.reduce((total, { costMicros }) => total + costMicros, 0),
});
