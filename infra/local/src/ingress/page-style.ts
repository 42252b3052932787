import { defineStyle, THEME } from '@svc/pages';

export const PAGE_STYLE = defineStyle(
  THEME,
  `
body{padding:1rem;align-items:center;justify-content:center}
main{max-width:32rem}
h1{margin-bottom:.5rem}
p{margin:0 0 .75rem}
`,
);
