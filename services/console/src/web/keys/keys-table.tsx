import type { ReactElement } from 'react';
import { useMay } from '../access/index.ts';
import type { ItemOf } from '../api/index.ts';
import { type Formats, type Messages, useI18n } from '../i18n/index.ts';
import { ActionMenu } from '../overlays/index.ts';
import { useAccount } from '../session/index.ts';
import { Badge, Money, Table, Time, useNow } from '../ui/index.ts';

type ApiKey = ItemOf<'listKeys'>;

/** An action that opens a dialog. */
export type KeyAct = 'change' | 'rotate' | 'delete';

/** Lists keys by their first characters. */
export const KeysTable = ({
  keys: list,
  currency,
  onAct,
  onPause,
  onKeep,
}: {
  keys: readonly ApiKey[];
  currency: string;
  onAct: (act: KeyAct, key: ApiKey) => void;
  /** Pauses an active key and resumes a paused one. */
  onPause: (key: ApiKey) => void;
  /** Keeps the key of a member who has left. */
  onKeep: (key: ApiKey) => void;
}): ReactElement => {
  const { messages, formats } = useI18n();
  const isOfOrganization = useAccount().organization !== null;
  const may = useMay();
  const { keys, common } = messages;
  const { columns } = keys;
  return (
    <Table
      label={keys.title}
      rows={list}
      keyOf={(key) => key.id}
      columns={[
        { title: columns.name, render: (key) => <Name apiKey={key} />, isHeader: true, isName: true },
        ...(isOfOrganization
          ? [{ title: columns.creator, isName: true, render: (key: ApiKey) => <Creator apiKey={key} /> }]
          : []),
        { title: columns.key, render: (key) => <code>{key.prefix}…</code> },
        { title: columns.limits, render: (key) => describeLimits(key, { keys, formats, currency }) },
        {
          title: columns.spent,
          isNumber: true,
          render: ({ spent_this_month_micros: spent }) =>
            spent === null ? common.none : <Money micros={spent} currency={currency} isFine />,
        },
        {
          title: columns.lastUsed,
          render: ({ last_used_at }) => (last_used_at === null ? common.never : <Time at={last_used_at} />),
        },
        { title: columns.expires, render: (key) => <Expiry at={key.expires_at} /> },
        ...(may('updateKey')
          ? [
              {
                title: columns.actions,
                isAction: true,
                render: (key: ApiKey) => (
                  <ActionMenu
                    label={keys.manage}
                    name={keys.manageKey(key.name)}
                    actions={[
                      ...(key.creator_left ? [{ label: keys.keep, onSelect: () => onKeep(key) }] : []),
                      { label: keys.change, onSelect: () => onAct('change', key) },
                      { label: key.active ? keys.pause : keys.resume, onSelect: () => onPause(key) },
                      { label: keys.rotate, onSelect: () => onAct('rotate', key) },
                      { label: keys.delete, onSelect: () => onAct('delete', key) },
                    ]}
                  />
                ),
              },
            ]
          : []),
      ]}
    />
  );
};

const Creator = ({ apiKey: { created_by, creator_left } }: { apiKey: ApiKey }): ReactElement => {
  const { keys, members } = useI18n().messages;
  return (
    <span className="event-name">
      {created_by.name ?? members.erased}
      {creator_left && <Badge tone="warn">{keys.creatorLeft}</Badge>}
    </span>
  );
};

const Name = ({ apiKey }: { apiKey: ApiKey }): ReactElement => {
  const { keys } = useI18n().messages;
  return (
    <span className="event-name">
      <strong>{apiKey.name}</strong>
      {!apiKey.active && <Badge tone="warn">{keys.isPaused}</Badge>}
      {apiKey.previous_expires_at !== null && (
        <span className="hint">
          {keys.previousUntil} <Time at={apiKey.previous_expires_at} />
        </span>
      )}
    </span>
  );
};

const Expiry = ({ at }: { at: string | null }): ReactElement => {
  const { keys, common } = useI18n().messages;
  const now = useNow();
  if (at === null) return <>{common.never}</>;
  return new Date(at) <= now ? <Badge tone="bad">{keys.expired}</Badge> : <Time at={at} />;
};

const describeLimits = (
  key: ApiKey,
  { keys, formats, currency }: { keys: Messages['keys']; formats: Formats; currency: string },
): string => {
  const limits = [
    key.monthly_limit_micros !== null && keys.monthly(formats.money(key.monthly_limit_micros, currency)),
    key.requests_per_minute !== null && keys.requestRate(formats.number(key.requests_per_minute)),
    key.tokens_per_minute !== null && keys.tokenRate(formats.number(key.tokens_per_minute)),
    key.models !== null && formats.list(key.models),
  ].filter((text) => text !== false);
  return limits.length === 0 ? keys.noLimits : limits.join(' · ');
};
