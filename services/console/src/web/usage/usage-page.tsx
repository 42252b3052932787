import { type ReactElement, useState } from 'react';
import { useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Page, SelectField, useNow } from '../ui/index.ts';
import { RequestsCard } from './requests-card.tsx';
import { UsageChartCard } from './usage-chart-card.tsx';
import type { UsageFilter } from './usage-filter.ts';

/** What API keys have used: by day, and request by request. */
export const UsagePage = (): ReactElement => {
  const { usage } = useI18n().messages;
  const now = useNow();
  const keys = useApiQuery('listKeys', {});
  const [filter, setFilter] = useState<UsageFilter>({ keyId: '', range: 'days30' });
  const names = new Map(keys.data?.data.map(({ id, name }) => [id, name]));
  return (
    <Page title={usage.title} lead={usage.lead}>
      <fieldset className="filters">
        <legend className="visually-hidden">{usage.filters}</legend>
        <SelectField
          label={usage.range}
          value={filter.range}
          onChange={(range) => setFilter({ ...filter, range })}
          options={(['days7', 'days30', 'days90'] as const).map((value) => ({ value, label: usage.ranges[value] }))}
        />
        <SelectField
          label={usage.key}
          value={filter.keyId}
          onChange={(keyId) => setFilter({ ...filter, keyId })}
          options={[{ value: '', label: usage.allKeys }, ...[...names].map(([value, label]) => ({ value, label }))]}
        />
      </fieldset>
      <UsageChartCard filter={filter} now={now} />
      <RequestsCard filter={filter} now={now} names={names} />
    </Page>
  );
};
