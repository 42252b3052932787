/** A mail that the server has taken, for one recipient. */
export interface InboxMail {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly links: readonly string[];
  readonly created_at: string;
}

/** Mails in memory; older ones are dropped. */
const MAILS_MAX = 5_000;

/** Keeps the mails that arrived, newest first. */
export interface Inbox {
  /** Adds a mail, unless one with this id is there for the same recipient: mailboxes show a repeated `Message-ID` once. */
  readonly add: (mail: InboxMail) => void;
  /** Lists mails, newest first. */
  readonly list: (filter: { to: string | undefined; limit: number }) => readonly InboxMail[];
}

export const createInbox = (): Inbox => {
  const mails = new Map<string, InboxMail>();
  return {
    add: (mail) => {
      const key = `${mail.to} ${mail.id}`;
      if (mails.has(key)) return;
      mails.set(key, mail);
      const [oldest] = mails.keys();
      if (mails.size > MAILS_MAX && oldest !== undefined) mails.delete(oldest);
    },
    list: ({ to, limit }) => {
      const address = to?.trim().toLowerCase();
      const found = [...mails.values()].filter((mail) => address === undefined || mail.to === address);
      return found.reverse().slice(0, limit);
    },
  };
};
