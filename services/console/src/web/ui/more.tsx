import { type ReactElement, type ReactNode, useEffect, useRef } from 'react';
import { Icon } from './icon.tsx';

/** Folds fields that few people need. Unfolds by itself if one of them has a fault. */
export const More = ({
  label,
  hasFault = false,
  isOpen = false,
  children,
}: {
  label: string;
  hasFault?: boolean;
  /** Unfolded at first. */
  isOpen?: boolean;
  children: ReactNode;
}): ReactElement => {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (details.current !== null && (hasFault || isOpen)) details.current.open = true;
  }, [hasFault, isOpen]);
  return (
    <details ref={details} className="more">
      <summary>
        <Icon name="chevron" />
        {label}
      </summary>
      <div className="more-body">{children}</div>
    </details>
  );
};
