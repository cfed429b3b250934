/// The style of the picture and the page, in light and dark mode.
///
/// Colors have a contrast with the background of at least 3:1 for areas and 4.5:1 for text, and can be distinguished with
/// red-green color blindness.
enum MapStyle {
  private static let light = """
    --ground:#ffffff;--panel:#f4f6f8;--line:#c3cad2;--ink:#1a2129;--soft:#55606c;\
    --lasting:#2b6cb0;--expiring:#b7791f;--dead:#b83a5e;--stripe:#e9a3b7;--unknown:#7256b3;--other:#7b8793;--free:#dde3e9;\
    --broken:#d0021b
    """
  private static let dark = """
    --ground:#12161b;--panel:#1b2129;--line:#3a444f;--ink:#e8edf2;--soft:#9aa7b4;\
    --lasting:#5aa2ee;--expiring:#e0ac4b;--dead:#e0668a;--stripe:#7d2c46;--unknown:#a78ce6;--other:#7d8a98;--free:#2c353f;\
    --broken:#ff5a5f
    """

  /// The colors, as properties of the elements that `selector` matches.
  static func colors(_ selector: String) -> String {
    "\(selector){color-scheme:light dark;\(light)}@media(prefers-color-scheme:dark){\(selector){\(dark)}}"
  }

  static let picture = """
    .map{font-family:system-ui,-apple-system,"Segoe UI",sans-serif;font-size:13px}
    .map text{fill:var(--ink)}.map .heading{font-size:24px;font-weight:650}
    .map .note,.map .label,.map .id{fill:var(--soft)}.map .value{fill:var(--ink);font-weight:600}.map .id{font-size:11px}
    .ground{fill:var(--ground)}
    .map .lasting{fill:var(--lasting)}.map .expiring{fill:var(--expiring)}.map rect.dead{fill:url(#stripes-alone)}\
    .map.wide rect.dead{fill:url(#stripes-wide)}.map.narrow rect.dead{fill:url(#stripes-narrow)}
    .solid{fill:var(--dead)}.stripe{fill:var(--stripe)}
    .map .unknown{fill:var(--unknown)}.map .other{fill:var(--other)}.map .free{fill:var(--free)}
    .map .unpacked{fill:none;stroke:var(--soft);stroke-width:1;stroke-dasharray:3 2}
    .map .heat0{fill:var(--free)}.map .heat1,.map .heat2,.map .heat3,.map .heat4{fill:var(--dead)}
    .map .heat1{opacity:.3}.map .heat2{opacity:.5}.map .heat3{opacity:.75}.map .damaged{fill:var(--broken)}
    .target{fill:transparent}.segment:hover .target,.segment.chosen .target{fill:var(--free);opacity:.45}
    .segment:hover .foot,.segment.chosen .foot{stroke:var(--ink);stroke-width:1.5}

    """

  static let page = """
    *{box-sizing:border-box}
    body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
    main{max-width:1200px;margin:0 auto;padding:28px 24px 48px}
    h1{font-size:26px;line-height:1.25;margin:0;overflow-wrap:anywhere}
    .lead{color:var(--soft);margin:6px 0 0}
    .trouble{border-left:4px solid var(--broken);background:var(--panel);padding:10px 14px;margin:16px 0 0;\
    overflow-wrap:anywhere}
    figure{margin:0}figure svg{display:block;width:100%}\
    @media(max-width:700px){.wide{display:none!important}}@media(min-width:701px){.narrow{display:none!important}}
    #details{position:sticky;bottom:0;margin:18px 0 0;padding:12px 16px;min-height:84px;background:var(--panel);\
    border:1px solid var(--line);border-radius:8px}
    #details h2{font-size:15px;margin:0 0 4px}
    #details dl{display:flex;flex-wrap:wrap;gap:2px 26px;margin:0}#details div{display:flex;gap:7px}
    dt{color:var(--soft)}dd{margin:0;font-variant-numeric:tabular-nums}
    summary{cursor:pointer;margin:26px 0 10px;font-weight:600}
    .scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums}
    caption{text-align:left;color:var(--soft);padding-bottom:6px}
    th,td{padding:4px 10px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
    th{color:var(--soft);font-weight:600}.word{text-align:left}td.damage{color:var(--broken);white-space:normal}
    .rows{display:grid;grid-template-columns:minmax(90px,22%) 1fr max-content;gap:7px 14px;align-items:center}
    .row{display:contents}
    .name{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
    .track{display:flex;height:18px;background:var(--panel);border-radius:4px;overflow:hidden}.track span{min-width:1px}
    .count{font-variant-numeric:tabular-nums;text-align:right;min-width:8ch}
    @media(max-width:700px){.rows{grid-template-columns:1fr;gap:12px}
    .row{display:grid;grid-template-columns:1fr max-content;gap:4px 12px}.track{grid-row:2;grid-column:1/-1}}
    .bar{display:flex;height:26px;border-radius:5px;overflow:hidden}.bar span{min-width:1px}
    .total{margin:18px 0 6px;color:var(--soft)}.total b,.scale b{color:var(--ink)}
    .legend{display:flex;flex-wrap:wrap;gap:4px 22px;list-style:none;margin:12px 0 0;padding:0;color:var(--soft)}
    .key{display:inline-block;width:13px;height:13px;border-radius:3px;vertical-align:-1px}
    .legend .key{margin-right:8px}.key.free,.key.heat0{box-shadow:inset 0 0 0 1px var(--line)}
    .scale{display:flex;flex-wrap:wrap;justify-content:space-between;gap:4px 22px;margin:28px 0 4px;color:var(--soft)}
    .heat .key{width:22px;height:9px;border-radius:2px;margin-left:3px;vertical-align:1px}
    .key.heat0{background:var(--free)}.key.heat1,.key.heat2,.key.heat3,.key.heat4{background:var(--dead)}
    .key.heat1{opacity:.3}.key.heat2{opacity:.5}.key.heat3{opacity:.75}
    span.unknown{background:var(--unknown)}span.other{background:var(--other)}span.damaged{background:var(--broken)}
    span.unpacked{border:1px dashed var(--soft)}
    h2{font-size:16px;margin:28px 0 10px}.bare{margin:0}
    span.lasting{background:var(--lasting)}span.expiring{background:var(--expiring)}span.free{background:var(--free)}
    span.dead{background:repeating-linear-gradient(135deg,var(--dead) 0 4px,var(--stripe) 4px 6px)}
    footer{color:var(--soft);font-size:13px;margin-top:28px}
    :focus-visible{outline:2px solid var(--lasting);outline-offset:2px}

    """

  /// Shows the figures of the segment under the pointer, or selected with the arrow keys. Without the script, the browser
  /// shows them as tooltips.
  static let script = """
    const box=document.getElementById('details');
    document.querySelectorAll('svg.map').forEach(map=>{
    const all=[...map.querySelectorAll('.segment')];let chosen=-1;
    const texts=all.map(g=>{const t=g.querySelector('title'),s=t.textContent;t.remove();return s.split('\\n')});
    function show(i){if(i<0||i>=all.length)return;all[chosen]?.classList.remove('chosen');chosen=i;
    all[i].classList.add('chosen');const [head,...rest]=texts[i];const h=document.createElement('h2');
    h.textContent=head[0].toUpperCase()+head.slice(1);const d=document.createElement('dl');
    for(const line of rest){const at=line.indexOf(': '),p=document.createElement('div'),k=document.createElement('dt'),
    v=document.createElement('dd');k.textContent=line.slice(0,at);v.textContent=line.slice(at+2);p.append(k,v);d.append(p)}
    box.replaceChildren(h,d)}
    all.forEach((g,i)=>g.addEventListener('pointerenter',()=>show(i)));
    map.tabIndex=0;map.addEventListener('keydown',e=>{
    const row=all.findIndex((g,i)=>i>0&&g.querySelector('.target').getAttribute('y')!==all[0].querySelector('.target')
    .getAttribute('y'));const step={ArrowRight:1,ArrowLeft:-1,ArrowDown:row<0?0:row,ArrowUp:row<0?0:-row}[e.key];
    if(e.key==='Home')show(0);else if(e.key==='End')show(all.length-1);else if(step===undefined)return;
    else show(chosen<0?0:chosen+step);e.preventDefault()})});

    """
}
