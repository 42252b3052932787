import type { ReactElement, ReactNode } from 'react';
import { Icon } from './icon.tsx';

/** Renders a notice beside its subject. Screen readers announce `warn` and `bad` at once. */
export const Notice = ({
  tone = 'info',
  title,
  children,
}: {
  tone?: 'info' | 'good' | 'warn' | 'bad';
  title?: string | undefined;
  children?: ReactNode;
}): ReactElement => (
  <div className={`notice notice-${tone}`} role={tone === 'bad' || tone === 'warn' ? 'alert' : 'status'}>
    <Icon name={tone === 'good' ? 'check' : tone === 'info' ? 'info' : 'alert'} />
    <div>
      {title !== undefined && <p className="notice-title">{title}</p>}
      {children}
    </div>
  </div>
);
