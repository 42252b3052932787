import {
  internalRoutes,
  LOST_PREFIX,
  LOST_TOKENS_KEY,
  type PublisherName,
  REVOCATION_SUBJECT_PREFIX,
  REVOCATION_TTL_SECONDS,
  REVOCATIONS_STREAM,
  type RecordedRevocations,
  revocationPrefixes,
} from '@svc/contracts';
import { type Binding, bind, type InternalClient } from '@svc/service-kit';
import type { Knex } from 'knex';

/** A service that records revocations before NATS delivers them. */
export interface RevocationSource {
  /** Prefixes of the keys that it records. */
  readonly prefixes: readonly string[];
  /** Finds the revocations among these keys. Rejects if the source does not answer. */
  readonly lookUp: (keys: readonly string[], signal: AbortSignal) => Promise<RecordedRevocations>;
}

/** Asks auth over its internal route. */
export const authSource = (client: InternalClient): RevocationSource => ({
  prefixes: revocationPrefixes('auth'),
  lookUp: async (keys, signal) =>
    (await client.call(internalRoutes.lookUpRevocations, { body: { keys: [...keys] }, signal })).body,
});

/** Asks the service's own database, for revocations that its other replicas have recorded. */
export const ownSource = (service: PublisherName, database: Knex): RevocationSource => ({
  prefixes: revocationPrefixes(service),
  lookUp: (keys) => findRecordedRevocations(database, keys),
});

/** Binds the look-up of auth's revocations by services that NATS does not reach. */
export const revocationRoutes = ({ database }: { readonly database: Knex }): Binding[] => [
  bind(internalRoutes.lookUpRevocations, async ({ body }) => ({
    status: 200,
    body: await findRecordedRevocations(database, body.keys),
  })),
];

// The stream is a literal, as in the predicate of the index `outbox_revocations`.
const LOST_SUBJECTS = `
  SELECT DISTINCT subject FROM outbox
  WHERE stream = '${REVOCATIONS_STREAM}' AND subject COLLATE "C" >= ? AND subject COLLATE "C" < ?`;

const LOOK_UP = `
  SELECT
    (SELECT coalesce(json_agg(json_build_object(
       'key', substr(found.subject, ${REVOCATION_SUBJECT_PREFIX.length + 1}), 'revoked_through', found.revoked_through
     )), '[]'::json)
     FROM (
       SELECT subject, max((payload ->> 'revoked_through') COLLATE "C") AS revoked_through FROM outbox
       WHERE stream = '${REVOCATIONS_STREAM}' AND subject COLLATE "C" = ANY (?)
         AND occurred_at > now() - make_interval(secs => ${REVOCATION_TTL_SECONDS})
       GROUP BY subject
     ) found) AS data,
    NOT EXISTS (
      SELECT FROM outbox WHERE stream = '${REVOCATIONS_STREAM}' AND published_at IS NULL
    ) AS is_published`;

/**
 * Finds revocations in the outbox of the service that publishes them. It keeps each one for longer than the bucket does,
 * so both give the same answer.
 */
const findRecordedRevocations = async (database: Knex, keys: readonly string[]): Promise<RecordedRevocations> => {
  const lost = keys.includes(LOST_TOKENS_KEY) ? await findLostSubjects(database) : [];
  const subjects = [...keys.map((key) => `${REVOCATION_SUBJECT_PREFIX}${key}`), ...lost];
  const { rows } = await database.raw<{ rows: RecordedRevocations[] }>(LOOK_UP, [subjects]);
  const [row] = rows;
  if (row === undefined) throw new Error('a look-up of revocations returned no row');
  return row;
};

/** Finds the ranges of tokens that restores have lost. Each restore has one. */
const findLostSubjects = async (database: Knex): Promise<string[]> => {
  const prefix = `${REVOCATION_SUBJECT_PREFIX}${LOST_PREFIX}`;
  // The last character of a key of NATS.
  const { rows } = await database.raw<{ rows: { subject: string }[] }>(LOST_SUBJECTS, [prefix, `${prefix}~`]);
  return rows.map(({ subject }) => subject);
};
