import type { ReactElement, ReactNode } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Brand } from './brand.tsx';
import { PreferenceFields } from './preference-fields.tsx';

/** Frame of the pages before the sign-in. */
export const SignedOutLayout = ({ children }: { children: ReactNode }): ReactElement => {
  const { messages } = useI18n();
  return (
    <div className="entrance">
      <a className="skip-link" href="#content">
        {messages.common.skipToContent}
      </a>
      <header>
        <Brand />
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <footer>
        <PreferenceFields />
        <a href="/docs">{messages.shell.documentation}</a>
      </footer>
    </div>
  );
};
