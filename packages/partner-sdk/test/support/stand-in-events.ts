import type { ServerResponse } from 'node:http';
import type { WebhookEvent } from '../../src/server.ts';
import { CLIENT_ID } from './deliveries.ts';
import { listen } from './listen.ts';

export const CLIENT_SECRET = 'svc_cs_of+the test';
const PAGE_EVENTS_MAX = 100;
const authorization = `Basic ${btoa(`${CLIENT_ID}:${encodeURIComponent(CLIENT_SECRET)}`)}`;

type Status = 'queued' | 'failed' | 'delivered' | 'skipped' | 'cancelled';

export interface StandInEvents {
  readonly url: string;
  /** Sequences after which pages were fetched. */
  readonly fetched: number[];
  /** Answers the next requests instead of the list. */
  readonly answers: ((response: ServerResponse) => void)[];
  add(event: WebhookEvent, status?: Status): void;
  /** Deletes the events up to this sequence, as the service does after their retention. */
  deleteUpTo(sequence: number): void;
  stop(): Promise<void>;
}

/** Serves the list of an app's own events in the wire format of the contract. */
export const startStandInEvents = async (): Promise<StandInEvents> => {
  let stored: { event: WebhookEvent; status: Status }[] = [];
  const fetched: number[] = [];
  const answers: StandInEvents['answers'] = [];

  const { url, stop } = await listen((request, response) => {
    const answer = answers.shift();
    if (answer !== undefined) return answer(response);
    const asked = new URL(request.url ?? '', 'http://localhost');
    if (asked.pathname !== '/v1/integrations/webhook/events') return void response.writeHead(404).end();
    if (request.headers.authorization !== authorization) return void response.writeHead(401).end();
    const after = Number(asked.searchParams.get('after_sequence'));
    const limit = Math.min(Number(asked.searchParams.get('limit')), PAGE_EVENTS_MAX);
    fetched.push(after);
    const later = stored.filter(({ event }) => event.sequence > after);
    const data = later.slice(0, limit).map(({ event, status }) => {
      const { event_id, event: name, sequence, created } = event;
      return { event_id, event: name, sequence, generation: 1, created, status, payload: JSON.stringify(event) };
    });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ data, has_more: later.length > data.length }));
  });

  return {
    url,
    fetched,
    answers,
    add: (event, status = 'queued') => void stored.push({ event, status }),
    deleteUpTo: (sequence) => {
      stored = stored.filter(({ event }) => event.sequence > sequence);
    },
    stop,
  };
};
