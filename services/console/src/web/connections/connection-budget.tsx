import type { Connection } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { UsageMeter } from '../ui/index.ts';

/** Shows what an app has used of its limit, if it has one. */
export const ConnectionBudget = ({ budget }: Pick<Connection, 'budget'>): ReactElement | undefined => {
  const { messages, formats } = useI18n();
  const { connections } = messages;
  if (budget === null) return undefined;
  const {
    limit_micros: limit,
    used_micros: used,
    currency,
    period,
    resets_at: resetsAt,
    expires_at: expiresAt,
  } = budget;
  const percent = limit === 0 ? 100 : Math.min(100, Math.floor((used / limit) * 100));
  const reset = resetsAt === null ? connections.budgetNoReset : connections.budgetResets(formats.date(resetsAt));
  const end = expiresAt === null ? [] : [connections.budgetUntil(formats.date(expiresAt))];
  return (
    <UsageMeter
      label={connections.budgetMeter(connections.periods[period])}
      percent={percent}
      percentText={formats.usedPercent(percent, used)}
      text={connections.budgetUsed(formats.shortMoney(used, currency), formats.money(limit, currency))}
      note={[reset, ...end].join(' · ')}
    />
  );
};
