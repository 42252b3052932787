import { authEvents } from '@svc/contracts';
import type { AccountRecord } from '../accounts/index.ts';

/** Returns the next fact about the deletion of a locked account. */
export const nextDeletion = ({ id, deletionVersion }: AccountRecord) => {
  const version = deletionVersion + 1;
  const about = { aggregate: `account_deletion:${id}`, version };
  return {
    version,
    requested: (eraseAt: Date) => ({
      ...about,
      subject: authEvents.accountDeletionRequested.subject,
      data: { svc_user_id: id, erased_at: eraseAt.toISOString() },
    }),
    cancelled: { ...about, subject: authEvents.accountDeletionCancelled.subject, data: { svc_user_id: id } },
    erased: { ...about, subject: authEvents.accountErased.subject, data: { svc_user_id: id } },
  };
};
