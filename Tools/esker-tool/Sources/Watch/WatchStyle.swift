/// The style of the page of a watch, beside that of the map, whose colors it has.
enum WatchStyle {
  static let page = """
    .hidden{display:none}
    .tiles{display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:10px;margin:20px 0 0}
    @media(max-width:700px){.tiles{grid-template-columns:repeat(2,minmax(0,1fr))}}
    .tiles div{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:10px 13px;min-width:0;overflow:hidden}
    .tiles dt{font-size:13px}.tiles dd{font-size:22px;font-weight:650;line-height:1.3;white-space:nowrap}
    .tiles .note{font-size:13px;font-weight:400;color:var(--soft);min-height:1.3em}
    .charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:0 28px}
    .plot{position:relative}.value{position:absolute;right:8px;font-size:12px;line-height:1.3;color:var(--soft);
    font-variant-numeric:tabular-nums}
    .chart svg{display:block;width:100%;height:150px;background:var(--panel);border-radius:8px}
    .grid{stroke:var(--line);stroke-width:1;vector-effect:non-scaling-stroke}
    .area{fill:var(--lasting);opacity:.22}
    .line{fill:none;stroke:var(--lasting);stroke-width:2;stroke-linejoin:round;vector-effect:non-scaling-stroke}
    .axis{display:flex;justify-content:space-between;margin:5px 0 0;font-size:13px;color:var(--soft)}
    .latencies{font-size:15px}.latencies th:first-child{text-align:left}

    """

  static func script(writtenAt time: Int64, staleAfter limit: Int64) -> String {
    """
    const age=document.getElementById('age');
    function look(){const old=Date.now()-\(time);if(old<\(limit))return;age.className='trouble';
    const s=Math.round(old/1000);
    age.textContent='Not updated for '+(s<120?s+' seconds':Math.round(s/60)+' minutes')+': the watch has ended.'}
    look();setInterval(look,1000);

    """
  }
}
