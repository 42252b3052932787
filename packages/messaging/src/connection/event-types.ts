import {
  allEvents,
  type EventDefinition,
  type events,
  REVOCATION_SUBJECT_PREFIX,
  REVOCATIONS_STREAM,
  streams,
} from '@svc/contracts';
import type { z } from 'zod';

type Definition = (typeof events)[keyof typeof events];

/** The subject of any fact in the contract. */
export type EventSubject = Definition['subject'];

/** Data of a fact of this subject, as parsed. */
export type EventData<S extends EventSubject> = z.output<Extract<Definition, { subject: S }>['schema']>;

/** Data of a fact of this subject, before it is parsed. */
export type EventInput<S extends EventSubject> = z.input<Extract<Definition, { subject: S }>['schema']>;

/** A fact as a consumer gets it, checked against the contract. `subject` discriminates `data`. */
export type EventOf<S extends EventSubject> = {
  [K in S]: {
    readonly id: string;
    readonly subject: K;
    readonly aggregate: string;
    readonly version: number;
    readonly epoch: string;
    readonly occurred_at: string;
    readonly data: EventData<K>;
  };
}[S];

export type ReceivedEvent = EventOf<EventSubject>;

/** Narrows a fact to one subject, for consumers of several. */
export const hasSubject = <S extends EventSubject>(event: { subject: string }, subject: S): event is EventOf<S> =>
  event.subject === subject;

const definitions: ReadonlyMap<string, EventDefinition> = new Map(allEvents.map((event) => [event.subject, event]));
const streamNames: ReadonlyMap<string, string> = new Map(
  Object.values(streams).flatMap(({ name, subjects }) =>
    subjects.map((subject): [string, string] => [subject.replace('.>', ''), name]),
  ),
);

/** Returns the contract's entry for a subject, or undefined for an unknown one. */
export const findEvent = (subject: string): EventDefinition | undefined => definitions.get(subject);

/** Returns the stream of a subject. Throws RangeError if there is none. */
export const streamOf = (subject: string): string => {
  if (subject.startsWith(REVOCATION_SUBJECT_PREFIX)) return REVOCATIONS_STREAM;
  const stream = streamNames.get(subject.split('.', 1)[0] ?? '');
  if (stream === undefined) throw new RangeError(`no stream keeps the subject ${subject}`);
  return stream;
};
