import type { ExtraUsage, Usage } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { UsageMeter, useNow } from '../ui/index.ts';

/**
 * Shows weekly and monthly use against their caps, and extra use against its ceiling if that is on, with the reset times.
 * Renders nothing without a subscription.
 */
export const UsageMeters = ({
  usage,
  extra,
  currency,
}: {
  usage: Usage;
  /** Undefined until it is known. */
  extra: ExtraUsage | undefined;
  currency: string;
}): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const now = useNow();
  const { overview } = messages;
  const extraWindow = extra?.enabled === true ? windowOf(extra) : null;
  const windows = [
    { label: overview.weekly, window: usage.weekly },
    { label: overview.monthly, window: usage.monthly },
    { label: overview.extra, window: extraWindow },
  ];
  const canGoOn = extraWindow !== null && extraWindow.used_percent < 100;
  const reached = canGoOn ? overview.reachedExtra : overview.reached;
  return (
    <div className="meters">
      {windows.map(({ label, window }) => {
        if (window === null) return null;
        const { used_percent, used_micros, limit_micros, resets_at } = window;
        const resets = overview.resets(formats.relative(resets_at, now), formats.dateTime(resets_at));
        return (
          <UsageMeter
            key={label}
            label={label}
            percent={used_percent}
            percentText={formats.usedPercent(used_percent, used_micros)}
            text={overview.usedOf(
              formats.shortMoney(used_micros, currency),
              formats.shortMoney(limit_micros, currency),
            )}
            exact={overview.usedOf(formats.money(used_micros, currency), formats.money(limit_micros, currency))}
            note={used_percent >= 100 ? `${reached} ${resets}` : resets}
          />
        );
      })}
    </div>
  );
};

/** Returns extra use as a window. */
const windowOf = ({ used_micros, monthly_max_micros, resets_at }: ExtraUsage): NonNullable<Usage['weekly']> => ({
  used_percent: monthly_max_micros === 0 ? 100 : Math.min(100, Math.floor((used_micros / monthly_max_micros) * 100)),
  used_micros,
  limit_micros: monthly_max_micros,
  resets_at,
});
