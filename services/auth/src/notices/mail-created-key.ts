import type { events } from '@svc/contracts';
import type { z } from 'zod';
import { formatInstant } from '../format-instant.ts';
import type { MailOutboxDeps } from '../mail/index.ts';
import type { Transaction } from '../transact.ts';
import { mailNotice } from './mail-notice.ts';

/** Mails the owner of a new API key. */
export const mailCreatedKey = (
  deps: MailOutboxDeps,
  trx: Transaction,
  fact: z.output<typeof events.keyCreated.schema>,
): Promise<void> =>
  mailNotice(deps, trx, {
    userId: fact.svc_user_id,
    write: ({ locale }) => ({
      kind: 'api_key_created',
      data: { keyName: fact.name, prefix: fact.prefix, at: formatInstant(new Date(fact.created_at), locale) },
    }),
  });
