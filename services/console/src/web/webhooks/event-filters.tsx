import type { WebhookEventStatus } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { useI18n } from '../i18n/index.ts';
import { SelectField, TextField } from '../ui/index.ts';

const STATUSES: readonly WebhookEventStatus[] = ['queued', 'delivering', 'delivered', 'failed', 'skipped', 'cancelled'];
const STATUS = 'status';
const EVENT_ID = 'event_id';

export interface EventFilter {
  readonly status: WebhookEventStatus | undefined;
  /** Empty for events of any id. */
  readonly eventId: string;
}

/** Reads the filter from the address of the page. */
export const useEventFilter = (): EventFilter => {
  const [search] = useSearchParams();
  return {
    status: STATUSES.find((value) => value === search.get(STATUS)),
    eventId: search.get(EVENT_ID)?.trim() ?? '',
  };
};

/** Filters events by their state, or finds one by its id. */
export const EventFilters = ({ status, eventId }: EventFilter): ReactElement => {
  const { webhooks, usage } = useI18n().messages;
  const [, setSearch] = useSearchParams();
  const show = (name: string, value: string): void =>
    setSearch(value === '' ? {} : { [name]: value }, { replace: true });
  return (
    <fieldset className="filters">
      <legend className="visually-hidden">{usage.filters}</legend>
      <SelectField
        label={webhooks.status}
        value={status ?? ''}
        onChange={(next) => show(STATUS, next)}
        options={[
          { value: '' as const, label: webhooks.allStatuses },
          ...STATUSES.map((value) => ({ value, label: webhooks.statuses[value] })),
        ]}
      />
      <TextField
        label={webhooks.eventId}
        type="search"
        placeholder="evt_…"
        autoComplete="off"
        spellCheck={false}
        value={eventId}
        onChange={(next) => show(EVENT_ID, next.trim())}
      />
    </fieldset>
  );
};
