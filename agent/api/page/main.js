// Chooses the view: "#" is the list, "#NAME" is an election. An only election needs no list.

function route() {
  overview.leave();
  by_id('detail').hidden = true;
  by_id('summary').hidden = true;
  detail.now = null;
  let name = location.hash.slice(1);
  try {
    name = decodeURIComponent(name);
  } catch {
    // Typed by hand; then it is the name as it stands.
  }
  by_id('home').classList.toggle('leads', name !== '');
  feed.follow(name ? detail.view(name) : overview.view((only) => feed.follow(detail.view(only))));
}

addEventListener('hashchange', () => {
  scrollTo(0, 0);
  route();
});
function refresh() {
  draw_link();
  detail.tick();
  overview.tick();
}
setInterval(refresh, 250);
route();
