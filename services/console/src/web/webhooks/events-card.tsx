import { type ComponentProps, type ReactElement, type ReactNode, useState } from 'react';
import { ApiError, useApiMutation, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { ConfirmDialog } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, Card, EmptyState, ErrorNotice, Loading, LoadMore, Notice, Time } from '../ui/index.ts';
import { EventActions } from './event-actions.tsx';
import { type EventFilter, EventFilters, useEventFilter } from './event-filters.tsx';
import { EventsTable } from './events-table.tsx';
import { headOf } from './lane.ts';
import type { Configuration } from './webhook-operations.ts';
import {
  FOLLOW_MS,
  isUnderWay,
  useWebhookEvents,
  useWebhookOperations,
  type WebhookEventRecord,
} from './webhook-operations.ts';

/** Says which failed event holds up the others and since when, and offers to recover it. */
const BlockedNotice = ({
  configuration,
  events,
  onSkip,
}: {
  configuration: Configuration;
  events: readonly WebhookEventRecord[];
  onSkip: (event: WebhookEventRecord) => void;
}): ReactNode => {
  const { webhooks } = useI18n().messages;
  const [failure, setFailure] = useState<Error>();
  const { operations } = useWebhookOperations();
  const { client_id: clientId } = configuration;
  // The list is newer than the configuration while it is followed.
  const listed = events.find(({ status }) => status === 'failed');
  const eventId = listed?.event_id ?? configuration.blocked_by_event_id ?? '';
  const read = useApiQuery(
    operations.event,
    { params: { client_id: clientId, event_id: eventId } },
    { enabled: eventId !== '' && listed === undefined },
  );
  const blocking = listed ?? read.data;
  if (blocking?.status !== 'failed') return null;
  const since = blocking.last_attempt?.at;
  return (
    <Notice tone="bad" title={webhooks.blockedTitle}>
      <p>{webhooks.blockedBy(blocking.sequence, blocking.event)}</p>
      {configuration.paused_at !== null && <p>{webhooks.paused}</p>}
      {since !== undefined && (
        <p>
          {webhooks.waitingSince} <Time at={since} exact /> (<Time at={since} />)
        </p>
      )}
      {listed === undefined && (
        <EventActions clientId={clientId} event={blocking} onSkip={() => onSkip(blocking)} onFailure={setFailure} />
      )}
      {failure !== undefined && <ErrorNotice error={failure} />}
    </Notice>
  );
};

/** Asks once before an event is given up. */
const SkipDialog = ({
  clientId,
  event,
  onClose,
}: {
  clientId: string;
  event: WebhookEventRecord;
  onClose: () => void;
}): ReactElement => {
  const { webhooks } = useI18n().messages;
  const toast = useToast();
  const { operations } = useWebhookOperations();
  const recover = useApiMutation(operations.recover, {
    refreshes: [operations.events, operations.configuration],
    onDone: () => {
      toast(webhooks.skipped);
      onClose();
    },
  });
  const params = { client_id: clientId, event_id: event.event_id };
  return (
    <ConfirmDialog
      onClose={onClose}
      title={webhooks.skipTitle(event.sequence)}
      text={webhooks.skipText}
      confirmLabel={webhooks.skip}
      busyLabel={webhooks.skipping}
      isBusy={recover.isPending}
      isDangerous
      error={recover.error}
      onConfirm={() => recover.mutate({ params, body: { action: 'skip' } })}
    />
  );
};

/** Form of a whole id, which may still be half typed. */
const WHOLE_ID = /^evt_[0-9a-z]{26}$/;

/** Deliveries, newest first, and what can be done about those that have failed. */
export const EventsCard = ({ configuration }: { configuration: Configuration }): ReactElement => {
  const { webhooks } = useI18n().messages;
  const { client_id: clientId } = configuration;
  const filter = useEventFilter();
  const pages = useWebhookEvents(clientId, filter.status);
  const head = useHead(configuration);
  const [skipping, setSkipping] = useState<WebhookEventRecord>();
  const listed = filter.eventId === '' ? (pages.data?.pages.flatMap((page) => page.data) ?? []) : [];
  const lists = { configuration, head, onSkip: setSkipping };
  return (
    <Card
      title={webhooks.events}
      lead={webhooks.eventsLead}
      actions={
        <Button
          icon="refresh"
          busyLabel={pages.isRefetching ? webhooks.refreshing : undefined}
          onClick={() => void pages.refetch()}
        >
          {webhooks.refresh}
        </Button>
      }
    >
      <BlockedNotice configuration={configuration} events={listed} onSkip={setSkipping} />
      <EventFilters {...filter} />
      {filter.eventId === '' ? (
        <EventList filter={filter} pages={pages} lists={lists} />
      ) : (
        <FoundEvent eventId={filter.eventId} {...lists} />
      )}
      {skipping !== undefined && (
        <SkipDialog clientId={clientId} event={skipping} onClose={() => setSkipping(undefined)} />
      )}
    </Card>
  );
};

/** Reads the event that later ones wait for: the failed one of a blocked webhook, or the earliest of the newest. */
const useHead = ({ client_id, blocked_by_event_id }: Configuration): WebhookEventRecord | undefined => {
  const { operations } = useWebhookOperations();
  const newest = useWebhookEvents(client_id, undefined).data?.pages.flatMap((page) => page.data) ?? [];
  const blocking = useApiQuery(
    operations.event,
    { params: { client_id, event_id: blocked_by_event_id ?? '' } },
    { enabled: blocked_by_event_id !== null },
  ).data;
  return blocking?.status === 'failed' ? blocking : headOf(newest);
};

const EventList = ({
  filter: { status },
  pages,
  lists,
}: {
  filter: EventFilter;
  pages: ReturnType<typeof useWebhookEvents>;
  lists: Omit<ComponentProps<typeof EventsTable>, 'events'>;
}): ReactElement => {
  const { webhooks } = useI18n().messages;
  const { isAccount } = useWebhookOperations();
  const events = pages.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <>
      {pages.isPending && <Loading lines={5} />}
      {pages.isError && <ErrorNotice error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.isSuccess && events.length === 0 && status === undefined && (
        <EmptyState title={webhooks.emptyTitle} text={isAccount ? webhooks.account.emptyText : webhooks.emptyText} />
      )}
      {pages.isSuccess && events.length === 0 && status !== undefined && <EmptyState text={webhooks.noneWithStatus} />}
      {events.length > 0 && <EventsTable events={events} {...lists} />}
      <LoadMore pages={pages} />
    </>
  );
};

/** The event with an id, if it is one of this app's. */
const FoundEvent = ({
  configuration,
  eventId,
  head,
  onSkip,
}: {
  configuration: Configuration;
  eventId: string;
  head: WebhookEventRecord | undefined;
  onSkip: (event: WebhookEventRecord) => void;
}): ReactElement => {
  const { webhooks } = useI18n().messages;
  const { operations, isAccount } = useWebhookOperations();
  const isWhole = WHOLE_ID.test(eventId);
  const { data, error, refetch } = useApiQuery(
    operations.event,
    { params: { client_id: configuration.client_id, event_id: eventId } },
    {
      enabled: isWhole,
      staleTime: 0,
      refetchInterval: (event) => event !== undefined && isUnderWay(event) && FOLLOW_MS,
    },
  );
  if (data !== undefined)
    return <EventsTable configuration={configuration} events={[data]} head={head} onSkip={onSkip} />;
  if (!isWhole || (error instanceof ApiError && error.status === 404))
    return <EmptyState text={isAccount ? webhooks.account.noneWithId : webhooks.noneWithId} />;
  return error === null ? <Loading lines={2} /> : <ErrorNotice error={error} onRetry={() => void refetch()} />;
};
