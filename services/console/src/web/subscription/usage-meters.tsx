import type { Usage } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { UsageMeter, useNow } from '../ui/index.ts';

/** Shows weekly and monthly use against their caps, with the reset times. Renders nothing without a subscription. */
export const UsageMeters = ({ usage, currency }: { usage: Usage; currency: string }): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const now = useNow();
  const { overview } = messages;
  const windows = [
    { label: overview.weekly, window: usage.weekly },
    { label: overview.monthly, window: usage.monthly },
  ];
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
            note={used_percent >= 100 ? `${overview.reached} ${resets}` : resets}
          />
        );
      })}
    </div>
  );
};
