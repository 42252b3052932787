import { defineStyle, THEME } from '@svc/pages';

/** The style of all pages: one card in the middle of the window. */
export const PAGE_STYLE = defineStyle(
  THEME,
  `
body{padding:1.5rem 1rem;align-items:center;justify-content:center}
header{margin-bottom:1rem}
main{width:100%;max-width:27.5rem;padding:1.75rem;background:var(--box);border:1px solid var(--line);border-radius:1rem;box-shadow:var(--shadow)}
@media (max-width:26rem){body{padding:1rem .75rem}main{padding:1.25rem}}
h2{font-size:.9375rem;margin:1.25rem 0 .25rem}
p{margin:.375rem 0}.soft{color:var(--soft);font-size:.9375rem}.wrap{overflow-wrap:anywhere}strong{font-weight:600}.soft strong{color:var(--text)}
.proof{font-size:.9375rem}.proof svg{width:1.25rem;height:1.25rem;margin-right:.375rem;vertical-align:-.25rem;color:var(--accent)}
.parties{display:flex;align-items:center;gap:.625rem;margin-bottom:1rem;color:var(--edge)}
.parties>*{width:3.5rem;height:3.5rem;border-radius:.875rem;flex:none}.parties img{object-fit:contain;background:var(--sunken);border:1px solid var(--line)}.parties .between{width:1.5rem;height:1.5rem}
.who{display:flex;flex-wrap:wrap;gap:0 .75rem;align-items:baseline;justify-content:space-between;margin:1rem 0 0;padding:.5rem .75rem;background:var(--sunken);border-radius:.625rem;font-size:.9375rem}
ul{list-style:none;margin:.25rem 0 0;padding:0}
li{display:grid;grid-template-columns:1.25rem 1fr;gap:0 .625rem;padding:.5rem 0}li svg{width:1.25rem;height:1.25rem;margin-top:.125rem;color:var(--accent)}li .no{color:var(--soft)}li span{grid-column:2}li.never{padding:.25rem 0}
.pays{margin:.75rem 0 0;padding:.75rem;background:var(--tint);border-radius:.625rem;font-size:.9375rem}.pays strong{display:block}
label{display:block;font-weight:600;margin:1rem 0 .25rem}
input{width:100%;min-height:2.75rem;font:inherit;color:inherit;background:var(--box);padding:.5rem .75rem;border:1px solid var(--edge);border-radius:.5rem}
select{width:100%;min-height:2.75rem;font:inherit;color:inherit;background:var(--box);padding:.5rem .75rem;border:1px solid var(--edge);border-radius:.5rem}
.budget{display:flex;flex-wrap:wrap;gap:0 .625rem}.budget>div{flex:1 1 9rem}.budget label{margin-top:.5rem}
label.check{font-weight:400}label.check input{width:auto;min-height:0;margin-right:.375rem}
input[aria-invalid=true]{border-color:var(--bad)}
.hint{color:var(--soft);font-size:.875rem;margin:.25rem 0 0}
button{width:100%;margin-top:1.25rem}
button.second{margin-top:.625rem}
button.link{padding:.125rem 0;margin:0;text-decoration:underline;font-weight:400}
.choice{display:flex;flex-wrap:wrap;gap:.625rem;margin-top:1.25rem}.choice button,.choice button.second{flex:1 1 9rem;margin:0}form+p{margin-top:1rem}
a.second{display:block;text-align:center;padding:.5625rem 1rem;border:1px solid var(--edge);border-radius:.5rem;color:var(--text);text-decoration:none;font-weight:600;margin-top:.625rem}a.second:hover{background:var(--sunken)}
fieldset.types{border:0;margin:1rem 0 0;padding:0}fieldset.types legend{font-weight:600;padding:0}fieldset.types label.check{margin:.375rem 0}fieldset.types label.check input{vertical-align:-1px}
@supports selector(:has(a)){.types .business{display:none}.types:has([value=business]:checked) .business{display:block}}
.alert{margin:1rem 0 0}.alert.near{margin:.375rem 0 0;padding:.375rem .625rem;font-size:.9375rem}
.notice{margin:1rem 0 0;padding:.5rem .75rem;background:var(--tint);border-radius:.5rem}
.other{margin-top:1.25rem;text-align:center}
main footer{margin-top:1.25rem;padding-top:.875rem;border-top:1px solid var(--line);display:flex;flex-wrap:wrap;gap:.25rem 1rem;font-size:.9375rem}main footer [hreflang]{margin-left:auto}
@media (forced-colors:active){.who,.pays{border:1px solid}}
`,
);
