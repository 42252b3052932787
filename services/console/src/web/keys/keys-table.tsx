import type { ReactElement } from 'react';
import type { ItemOf } from '../api/index.ts';
import { type Formats, type Messages, useI18n } from '../i18n/index.ts';
import { Badge, Button, Table, Time, useNow } from '../ui/index.ts';

type ApiKey = ItemOf<'listKeys'>;

/** Keys, recognised by their first characters. */
export const KeysTable = ({
  keys: list,
  currency,
  onDelete,
}: {
  keys: readonly ApiKey[];
  currency: string;
  onDelete: (key: ApiKey) => void;
}): ReactElement => {
  const { messages, formats } = useI18n();
  const { keys, common } = messages;
  const { columns } = keys;
  return (
    <Table
      label={keys.title}
      rows={list}
      keyOf={(key) => key.id}
      columns={[
        { title: columns.name, render: (key) => <strong>{key.name}</strong>, isHeader: true },
        { title: columns.key, render: (key) => <code>{key.prefix}…</code> },
        { title: columns.limits, render: (key) => describeLimits(key, { keys, formats, currency }) },
        {
          title: columns.lastUsed,
          render: ({ last_used_at }) => (last_used_at === null ? common.never : <Time at={last_used_at} />),
        },
        { title: columns.expires, render: (key) => <Expiry at={key.expires_at} /> },
        {
          title: columns.actions,
          isAction: true,
          render: (key) => (
            <Button small onClick={() => onDelete(key)} aria-label={keys.deleteKey(key.name)}>
              {keys.delete}
            </Button>
          ),
        },
      ]}
    />
  );
};

const Expiry = ({ at }: { at: string | null }): ReactElement => {
  const { keys, common } = useI18n().messages;
  const now = useNow();
  if (at === null) return <>{common.never}</>;
  return new Date(at) <= now ? <Badge tone="bad">{keys.expired}</Badge> : <Time at={at} />;
};

const describeLimits = (
  { requests_per_minute, monthly_limit_micros }: ApiKey,
  { keys, formats, currency }: { keys: Messages['keys']; formats: Formats; currency: string },
): string => {
  const limits = [
    ...(requests_per_minute === null ? [] : [keys.rate(formats.number(requests_per_minute))]),
    ...(monthly_limit_micros === null ? [] : [keys.monthly(formats.money(monthly_limit_micros, currency))]),
  ];
  return limits.length === 0 ? keys.noLimits : limits.join(' · ');
};
