import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { type ItemOf, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { EmptyState, Loaded, Money, Page, Table, TextField, useNow } from '../ui/index.ts';

const FALLBACK_CURRENCY = 'EUR';
const DATE_CHARACTERS = 10;

/** Sums up usage and money by member. The period is in the page's address. */
export const MemberUsagePage = (): ReactElement => {
  const { memberUsage: texts, usage: usageTexts, charts } = useI18n().messages;
  const [search, setSearch] = useSearchParams();
  const today = useNow().toISOString().slice(0, DATE_CHARACTERS);
  const from = search.get('from') ?? `${today.slice(0, -2)}01`;
  const to = search.get('to') ?? today;
  const isReversed = from > to;
  const usage = useApiQuery('summarizeMemberUsage', { query: { from, to } }, { enabled: !isReversed });
  const currency = useApiQuery('getWallet', {}).data?.currency ?? FALLBACK_CURRENCY;
  const choose = (name: 'from' | 'to', day: string): void => {
    if (day !== '') setSearch({ from, to, [name]: day }, { replace: true });
  };
  return (
    <Page title={texts.title} lead={texts.lead}>
      <fieldset className="filters">
        <legend className="visually-hidden">{usageTexts.filters}</legend>
        <TextField type="date" label={texts.from} max={to} value={from} onChange={(day) => choose('from', day)} />
        <TextField
          type="date"
          label={texts.to}
          min={from}
          value={to}
          onChange={(day) => choose('to', day)}
          fault={isReversed ? texts.reversed : undefined}
        />
      </fieldset>
      {!isReversed && (
        <Loaded query={usage} lines={4}>
          {({ data }) => (
            <div className="card">
              {data.length === 0 ? (
                <EmptyState icon="usage" text={texts.none} />
              ) : (
                <UsageTable usage={data} currency={currency} />
              )}
              <p className="hint">{charts.daysInUtc}</p>
            </div>
          )}
        </Loaded>
      )}
    </Page>
  );
};

const UsageTable = ({
  usage,
  currency,
}: {
  usage: readonly ItemOf<'summarizeMemberUsage'>[];
  currency: string;
}): ReactElement => {
  const { messages, formats } = useI18n();
  const { memberUsage: texts, members } = messages;
  return (
    <Table
      label={texts.title}
      rows={usage}
      keyOf={({ svc_user_id }) => svc_user_id}
      columns={[
        { title: members.columns.name, isHeader: true, isName: true, render: ({ name }) => name ?? members.erased },
        { title: texts.requests, isNumber: true, render: ({ requests }) => formats.number(requests) },
        {
          title: texts.cost,
          isNumber: true,
          render: ({ cost_micros }) => <Money micros={cost_micros} currency={currency} isFine />,
        },
        {
          title: texts.plan,
          isNumber: true,
          render: ({ plan_used_micros }) => <Money micros={plan_used_micros} currency={currency} isFine />,
        },
      ]}
    />
  );
};
