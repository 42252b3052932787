import PostalMime from 'postal-mime';
import type { InboxMail } from './inbox.ts';

const LINK = /https?:\/\/[^\s<>"]+/g;

/** Parses a mail as it came over SMTP, once for each recipient. */
export const readMail = async (
  raw: Uint8Array,
  envelope: { recipients: readonly string[]; id: string; now: Date },
): Promise<InboxMail[]> => {
  const mail = await PostalMime.parse(raw);
  const text = mail.text ?? '';
  return envelope.recipients.map((recipient) => ({
    id: mail.messageId?.replace(/^<|>$/g, '') ?? envelope.id,
    to: recipient.toLowerCase(),
    subject: mail.subject ?? '',
    text,
    html: mail.html ?? '',
    links: [...new Set(text.match(LINK))],
    created_at: envelope.now.toISOString(),
  }));
};
