import type { ReactElement } from 'react';

const PATHS = {
  overview: 'M3 11.5 12 4l9 7.5M5.5 9.8V20h13V9.8',
  plan: 'M4 7h16v12H4zM4 11h16M8 15.5h4',
  connections: 'M9 15 15 9M10.5 6.5l2-2a4.2 4.2 0 0 1 6 6l-2 2M13.5 17.5l-2 2a4.2 4.2 0 0 1-6-6l2-2',
  keys: 'M14.5 9.5a5 5 0 1 1-2.2-2.2L20 4v4h-3v3h-2.5M8 12.9h.01',
  wallet: 'M4 7.5A1.5 1.5 0 0 1 5.5 6H18v3M4 7.5V18a1.5 1.5 0 0 0 1.5 1.5H20V9H5.5A1.5 1.5 0 0 1 4 7.5ZM16 14.2h.01',
  usage: 'M4 20h16M7 20v-6M12 20V5M17 20v-9',
  documentation: 'M8 4h11v16H8a3 3 0 0 1-3-3V7a3 3 0 0 1 3-3zM5 17a3 3 0 0 1 3-3h11',
  apps: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 17h6M17 14v6',
  members:
    'M9 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 20a6.5 6.5 0 0 1 13 0M16 4.9a3.5 3.5 0 0 1 0 6.2M18 14.4a6.5 6.5 0 0 1 3.5 5.6',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6 6 18',
  shield: 'M12 3.5 19 6v5.5c0 4.7-3 7.7-7 9.3-4-1.6-7-4.6-7-9.3V6zM8.8 12l2.3 2.3 4.2-4.3',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  minus: 'M6 12h12',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  download: 'M12 4v11M7.5 10.5 12 15l4.5-4.5M5 20h14',
  alert: 'M12 8.5v4.5M12 16.5h.01M12 3.5 21.5 20h-19z',
  info: 'M12 11v5.5M12 7.5h.01M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17Z',
  chevron: 'm8 10 4 4 4-4',
  plus: 'M12 5v14M5 12h14',
  external: 'M14 5h5v5M19 5l-8 8M17 14v5H5V7h5',
  refresh: 'M19 12a7 7 0 1 1-2-4.9L19.5 9.5M19.5 5v4.5H15',
} as const;

/** Name of an icon. */
export type IconName = keyof typeof PATHS;

/** Renders an icon beside a text with the same meaning; hidden from screen readers. */
export const Icon = ({ name }: { name: IconName }): ReactElement => (
  <svg
    className="icon"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.75"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d={PATHS[name]} />
  </svg>
);
